def rewrite_logs(logs):
    return {f'train/{k}': v for k, v in logs.items() if not isinstance(v, str)}
