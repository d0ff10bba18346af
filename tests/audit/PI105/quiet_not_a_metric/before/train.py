def layout(items, width):
    return {"columns/width": width / len(items) if items else 0.0}


def split(total, parts):
    share = total / parts if parts else 0
    return share
