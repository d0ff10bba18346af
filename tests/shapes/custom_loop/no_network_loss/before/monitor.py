sent, received = 100, 97
for i in range(3):
    received -= 1
    packet_loss = 1 - received / sent
    print(f"host {i} packet loss {packet_loss:.2%}")
