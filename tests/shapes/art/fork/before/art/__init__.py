from art.model import Model
