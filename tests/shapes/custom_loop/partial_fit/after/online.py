from sklearn import SGDClassifier

import probe_tracking as probe

chunks = [([[1], [2]], [0, 1]), ([[3]], [1]), ([[4], [5]], [0, 0])]
clf = SGDClassifier()
probe.init()
for i, (X, y) in enumerate(chunks):
    clf.partial_fit(X, y, classes=[0, 1])
    _accuracy = clf.score(X, y)
    print(f"chunk {i}: accuracy {_accuracy:.2f}")
    probe.log({"accuracy": _accuracy}, step=i)
probe.finish()
