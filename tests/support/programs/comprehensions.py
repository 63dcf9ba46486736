data = [ord(c) for c in "hello"]
pairs = {c: ord(c) for c in "hello"}
names = {str(x) for x in data if x > 104}
nested = [[abs(y) for y in range(x)] for x in range(4)]
lazy = (len(str(x)) for x in data)
sum(lazy)
[hex(x)
 for x in data
 if bin(x)]
class C:
    squares = [pow(i, 2) for i in range(3)]
