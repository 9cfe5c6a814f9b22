def power(x, n):
    r = 1.0
    while n > 0:
        n -= 1
        r *= x
    return r
