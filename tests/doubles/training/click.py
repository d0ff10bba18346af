"""Commands that are called with their defaults."""


def command(*args, **rest):
    def wrap(function):
        def run():
            return function(**{name: default for name, default in reversed(getattr(function, "_options", []))})

        return run

    return wrap


def option(flag, default=None, **rest):
    def wrap(function):
        options = getattr(function, "_options", [])
        options.append((flag.lstrip("-").replace("-", "_"), default))
        function._options = options
        return function

    return wrap


def echo(text):
    print(text)
