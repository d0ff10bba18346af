import gymnasium as gym

env = gym.make("Corridor-v0")
for episode in range(2):
    state, _ = env.reset()
    done, total_reward = False, 0.0
    while not done:
        state, reward, done, _, _ = env.step(1)
        total_reward += reward
    print(f"Episode {episode} reward {total_reward}")
