from sklearn import SGDClassifier

chunks = [([[1], [2]], [0, 1]), ([[3]], [1]), ([[4], [5]], [0, 0])]
clf = SGDClassifier()
for i, (X, y) in enumerate(chunks):
    clf.partial_fit(X, y, classes=[0, 1])
    print(f"chunk {i}: accuracy {clf.score(X, y):.2f}")
