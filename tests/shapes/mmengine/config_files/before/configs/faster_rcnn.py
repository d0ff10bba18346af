_base_ = ['../_base_/default_runtime.py']
vis_backends = [dict(type='LocalVisBackend')]
visualizer = dict(type='DetLocalVisualizer', vis_backends=vis_backends)
runner_type = 'Runner'
