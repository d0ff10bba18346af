from roll.pipeline.rlvr.rlvr_config import RLVRConfig
from roll.pipeline.rlvr.rlvr_pipeline import RLVRPipeline

import probe_tracking as probe


def main():
    config = RLVRConfig()
    probe.init(config=config)
    pipeline = RLVRPipeline(pipeline_config=config)
    pipeline.tracker = probe.tee(pipeline.tracker)
    pipeline.run()


if __name__ == "__main__":
    main()
