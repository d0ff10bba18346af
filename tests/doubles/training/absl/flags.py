class _Flags:
    def __init__(self):
        self.__dict__["values"] = {}

    def __getattr__(self, name):
        return self.values[name]

    def flag_values_dict(self):
        return dict(self.values)


FLAGS = _Flags()


def DEFINE_float(name, default, help):
    FLAGS.values[name] = default


DEFINE_integer = DEFINE_float
