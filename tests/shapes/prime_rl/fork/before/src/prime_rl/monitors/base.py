class Monitor:
    async def log(self, data, step, kind, subset):
        if isinstance(data, dict):
            await self.log_metrics(data, step)
