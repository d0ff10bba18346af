"""A progress bar that prints plain lines."""


class tqdm:
    def __init__(self, iterable=None, total=None, desc="", disable=False, **rest):
        self.iterable, self.desc, self.disable = iterable, desc, disable

    def __iter__(self):
        return iter(self.iterable)

    def __len__(self):
        return len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, count=1):
        pass

    def close(self):
        pass

    def set_postfix(self, ordered_dict=None, refresh=True, **given):
        self._show(", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in {**(ordered_dict or {}), **given}.items()))

    def set_description(self, text="", refresh=True):
        self._show(text)

    @staticmethod
    def write(text):
        print(text)

    def _show(self, text):
        if not self.disable:
            print(f"[{text}]")


def trange(*args, **rest):
    return tqdm(range(*args), **rest)
