cash, position = 100.0, 1
for day, price in enumerate([10.0, 11.0, 9.5]):
    profit = position * (price - 10.0)
    loss = max(0.0, -profit)
    print(f"day {day}: return {profit:.2f} loss {loss:.2f}")
