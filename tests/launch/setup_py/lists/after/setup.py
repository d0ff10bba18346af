from setuptools import setup

EXTRA = ['wandb', "probe-research>=0.337; python_version >= '3.10'", 'trl']
setup(
    name='x',
    keywords=['wandb'],
    python_requires='>=3.7',
    install_requires=[
        'torch',
        'wandb',  # tracker
        "probe-research>=0.337; python_version >= '3.10'",
        'tqdm',
    ],
    extras_require={'all': EXTRA},
)
