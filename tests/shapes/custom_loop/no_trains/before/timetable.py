trains = {"IC1": 3, "IC2": 0}
for train, delay in trains.items():
    error = abs(delay)
    print(f"train {train} delay {delay} error {error}")
