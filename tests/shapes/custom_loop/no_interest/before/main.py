balance, rate = 100.0, 0.01
for month in range(3):
    balance += rate * balance
    print(f"month {month} balance {balance:.2f}")
