import gymnasium as gym

import probe_tracking as probe

env = gym.make("Corridor-v0")
Q = {(s, a): 0.0 for s in range(4) for a in range(2)}
alpha, gamma, epsilon = 0.5, 0.9, 0.0
n_episodes = 3
scores = []

probe.init(config={"alpha": alpha, "gamma": gamma, "epsilon": epsilon, "n_episodes": n_episodes})
for episode in range(n_episodes):
    state, _ = env.reset(seed=episode)
    done, total_reward, steps = False, 0.0, 0
    while not done and steps < 20:
        action = 1 if Q[state, 1] >= Q[state, 0] else 0
        new_state, reward, done, _, _ = env.step(action)
        best = max(Q[new_state, 0], Q[new_state, 1])
        Q[state, action] += alpha * (reward + gamma * best - Q[state, action])
        state = new_state
        total_reward += reward
        steps += 1
    scores.append(total_reward)
    print(f"Episode {episode}: reward {total_reward:.2f} after {steps} steps, epsilon {epsilon}")
    probe.log({"reward": total_reward, "epsilon": epsilon}, step=episode)
probe.finish()
print(len(scores))
