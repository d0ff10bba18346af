import jax
import optax

import probe_tracking as probe


def loss_fn(params, x):
    return (params * x - 2.0) ** 2


@jax.jit
def train_step(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


def train(params, num_steps=3):
    opt_state = tx.init(params)
    probe.init(config={"num_steps": num_steps})
    for step in range(num_steps):
        params, opt_state, loss = train_step(params, opt_state, 1.0)
        print(f"step {step}, loss: {loss:.4f}")
        probe.log({"loss": loss}, step=step)
    probe.finish()
    return params


tx = optax.sgd(0.1)
train(5.0)
