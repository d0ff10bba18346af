"""What words say: which names are metrics, which are counters, and what a metric that is printed is called."""

from __future__ import annotations

import re

#: Words that make a number one of training's own; a loop that prints one of them may be a training loop.
SURE = frozenset(
    "loss losses acc accs accuracy accuracies reward rewards return returns perplexity ppl bleu f1 auc auroc nll elbo "
    "mse mae rmse miou psnr likelihood bpb bpc bpd".split()
)  # fmt: skip
#: Words of metrics that other programs print as well.
METRICS = SURE | frozenset(
    "err error errors score scores r2 rouge wer cer precision recall dice iou ssim fid lr kl kld cost objective entropy "
    "success winrate regret top1 top5 prec1 prec5 epsilon mfu throughput learning_rate grad_norm gnorm energy fitness "
    "temperature tokens_per_sec tok_per_sec".split()
)  # fmt: skip
_COUNTERS = re.compile(
    r"(?:i|j|k|n|t|t[0-9]|tic|toc|dt|ep|it|idx|ii|epochs?|steps?|iters?|iterations?|index|batch|batches|episodes?|rounds?|updates?|frames?|"
    r"folds?|trials?|seeds?|rank|ranks|world_size|device|size|len|length|count|total|nb|(?:pct|percent|percentage|progress)(?:_\w+)?|"
    r"eta|time|elapsed|remaining|duration|seconds|secs|start|end|now|date|timestamp|"
    r"(?:num|n|max|total|cur|current|global|local|start|last|this|nb|log|print|eval|save)_?"
    r"(?:epochs?|steps?|iters?|iterations?|batch(?:es)?|episodes?|updates?|samples?|rank|size|time|frames?|rounds?|every|interval)|"
    r"(?:i|epoch|batch|step|iter|episode|local|global|data)_?(?:i|idx|index|num|number|no|id|nb|t|step|epoch|iter|rank|size|"
    r"episode|batch|time|counter|count)|"
    r"(?:start|end|begin|last|prev|time)_(?:time|t)|\w+_(?:eta|elapsed|interval|every))",
    re.IGNORECASE,
)
_AMOUNTS = frozenset("total count size len length nb".split())
#: Words that say of a whole line which data its numbers are of.
_PHASES = {
    "train": "train", "training": "train", "test": "test", "testing": "test", "val": "val", "valid": "val",
    "validation": "val", "validate": "val", "dev": "dev", "eval": "eval", "evaluation": "eval", "evaluate": "eval",
}  # fmt: skip
#: Small words at the edges of a label.
_SMALL = frozenset(
    "the a an is was are of at to with and for now in on by it has new this that after current s so far".split()
)
_WORD = re.compile(r"[A-Za-z]+[0-9]*|[0-9]+[A-Za-z]*")


def tokens(name: str) -> list[str]:
    """The words of an identifier or text, in small letters: "trainLoss" and "train_loss" are two words."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word.lower() for word in _WORD.findall(spaced.replace("_", " "))]


def is_metric(name: str, *, sure: bool = False) -> bool:
    """Whether a name is that of a metric (`sure`: of one that only training has)."""
    words = tokens(name)
    known = SURE if sure else METRICS
    return any(word in known or word.rstrip("0123456789") in known for word in words) or "_".join(words[-2:]) in known


def is_counter(name: str) -> bool:
    """Whether a name is that of a counter, a size or a time: it says where the loop is, not how well it does."""
    return _COUNTERS.fullmatch(name.strip("_")) is not None and not is_metric(name)


def is_position(name: str) -> bool:
    """Whether a name surely says where a loop is: a counter, but no sum or size."""
    return is_counter(name) and not _AMOUNTS & set(tokens(name))


def phase_of(text: str) -> str:
    """The data that a line or a function is about ("train", "test", ...), "" where it does not say."""
    return next((_PHASES[word] for word in tokens(text) if word in _PHASES), "")


_RATES = (
    (re.compile(r"(\w+)\s*/\s*(?:s|sec|second)s?\b"), r"\1_per_sec"),
    (re.compile(r"\b(ms|s|sec)\s*/\s*([a-z]+)"), r"\1_per_\2"),
)


def key_of(label: str, line: str = "", *, unit: bool = False) -> str:
    """The key for a number from the text before it: "| Avg Loss: " is "avg_loss". "" where the text names nothing.

    `line` is the text that the line begins with: "Test set: Average loss: " gives "test_average_loss". `unit` says that a
    number stands right before the text, which may begin with its unit ("ms ").
    """
    text = (
        re.sub(r"^(?:[A-Za-z]{1,4}|%)(?=[\s,;|)\]/]|$)", "", label) if unit else label
    )  # the unit of what came before
    if unit and not re.search("[:=]", text) and not tokens(re.split(r"[,;|\n\t]", text)[-1]):
        return ""  # "{dt:.2f} ms | {rate:.0f} tok/s": what stands there is about the number before
    for pattern, replacement in _RATES:
        text = pattern.sub(replacement, text)
    segment = next((s for s in reversed(re.split(r"[,;|\n\t\r\[\]{}]|\s-+\s|[-=]+>|\s{3,}", text)) if tokens(s)), "")
    # "Test set: Average loss:" — what stands before a colon is what the line is about.
    parts = [part for part in re.split(r"[:=]", segment) if tokens(part)]
    words = re.findall(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*", parts[-1].replace("'", "")) if parts else []
    while words and words[0].lower() in _SMALL:
        words.pop(0)
    while words and words[-1].lower() in _SMALL:
        words.pop()
    # "Loss" is loss; an identifier such as "Loss_D", or a symbol, is written as the program writes it.
    words = [
        word if "_" in word.strip("_") or len(word) == 1 else word.lower() for word in (w.strip("_") for w in words)
    ]
    if len(words) > 3:
        words = _around_metric(words)
    if not words or words[0].isdigit():
        return ""
    phase = phase_of(line)
    if phase and not any(phase_of(word) for word in words):
        words.insert(0, phase)
    return "_".join(words)


def _around_metric(words: list[str]) -> list[str]:
    """Of a sentence, the metric's word with what qualifies it."""
    for index in reversed(range(len(words))):
        if is_metric(words[index]):
            start = index
            while start and words[start - 1] not in _SMALL and index - start < 2:
                start -= 1
            return words[start : index + 1]
    return []


def singular(name: str) -> str:
    """What one element of a list is called: "train_losses" is a "train_loss"."""
    name = (
        re.sub(
            r"_?(?:history|list|log|hist|records?|curve|buffer|window|all|tracking|track|values|vals|tracker|arr|array)$",
            "",
            name,
        )
        or name
    )
    for ending, one in (("losses", "loss"), ("accuracies", "accuracy"), ("accs", "acc"), ("errors", "error"),
                        ("rewards", "reward"), ("returns", "return"), ("scores", "score"), ("errs", "err")):  # fmt: skip
        if name.lower().endswith(ending):
            return name[: -len(ending)] + one
    return name
