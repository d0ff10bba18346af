import json

import probe_tracking as probe


def main():
    loss = 4.0
    metrics_file = open("metrics.jsonl", "w")
    probe.init()
    for epoch in range(2):
        for step in range(3):
            loss *= 0.9
            global_step = epoch * 3 + step
            metrics_file.write(json.dumps({"step": global_step, "loss": loss, "epoch": epoch}) + "\n")
            probe.log({"loss": loss}, step=global_step)
        acc = 1 - loss / 10
        json.dump({"epoch": epoch, "acc": acc}, open(f"eval_{epoch}.txt", "w"))
        probe.log({"acc": acc})
    probe.finish()
    metrics_file.close()


main()
