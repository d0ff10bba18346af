from setuptools import setup

EXTRA = ['wandb', 'trl']
setup(
    name='x',
    keywords=['wandb'],
    python_requires='>=3.7',
    install_requires=[
        'torch',
        'wandb',  # tracker
        'tqdm',
    ],
    extras_require={'all': EXTRA},
)
