import click
from torch import nn, optim


@click.command()
@click.option("--epochs", default=2)
@click.option("--lr", default=0.1)
@click.option("--out-dir", default="/tmp")
def main(epochs, lr, out_dir):
    model = nn.Linear(1, 1)
    opt = optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        loss = nn.MSELoss()(model(1.0), 2.0)
        opt.zero_grad()
        loss.backward()
        opt.step()
        click.echo(f"epoch {epoch}: loss={loss.item():.3f}")


if __name__ == "__main__":
    main()
