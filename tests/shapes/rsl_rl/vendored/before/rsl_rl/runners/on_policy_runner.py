class OnPolicyRunner:
    def __init__(self, env, cfg):
        self.env = env

    def learn(self, iterations):
        return iterations
