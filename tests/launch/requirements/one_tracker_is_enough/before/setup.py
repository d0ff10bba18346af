setup(extras_require={'m': ['mlflow']})
