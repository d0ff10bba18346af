PHASES = ["warmup", "train"]


def step_of(cycle, phase):
    phases = len(PHASES)
    step = cycle * phases + phase
    return step
