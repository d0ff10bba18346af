from roll.pipeline.rlvr.rlvr_config import RLVRConfig
from roll.pipeline.rlvr.rlvr_pipeline import RLVRPipeline


def main():
    config = RLVRConfig()
    pipeline = RLVRPipeline(pipeline_config=config)
    pipeline.run()


if __name__ == "__main__":
    main()
