import time

for attempt in range(3):
    try:
        print("attempt", attempt)
        break
    except OSError as error:
        print("error", error)
        time.sleep(1)
