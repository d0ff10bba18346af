import probe

probe.init(name="a", external_id="job-1", axes={"train/*": "train/step", "eval/*": "eval/step"})  # -> PI108
