# The words beside the picture (inspector, waterfall, formulas, tables), which come after it with the code that uses
# them.

# The inspector: the row under the cursor.
inspector-waiting = No row yet: the first numbers are on their way.
inspector-row = Row { $row },
inspector-row-index = Row
inspector-row-key = key { $key }
inspector-pinned = pinned; Esc lets go
inspector-following = following the pointer
inspector-free = a click pins a cell
inspector-previous = previous
inspector-next = next
inspector-key = key
inspector-score = score
inspector-weight = weight
inspector-hidden = hidden
inspector-underflow = underflow
inspector-sees-nothing = This row sees no key. Softmax would be 0/0, so its weights and its output are 0 by rule.
inspector-rest = and { $n } more keys, together { $together }
inspector-all = show all
bars-label = Scores and weights of row { $row } over { $n } keys; the numbers stand in the table that follows.
read-row-label = The row in numbers
read-all-label = All rows in numbers
read-entropy = entropy
read-nats = nats of { $most }
read-no-key = sees no key
read-effect = keys in effect
read-exp = exp of entropy
read-visible = of { $n } visible
read-top = largest weight
read-on = on
read-sum = row sum
read-lse = ln Σ exp { $lse }
read-sink = to the sink
read-sink-note = logit { $logit }
read-mean-top = mean largest
read-mean-norm = mean Jacobian
read-column = most received
read-column-by = by
read-column-sink = sink:
read-rows = of all { $n } rows
read-rows-seeing = of { $n } seeing rows
read-one-row = of the one row
read-norm-most = norm, at most 0.5
jacobian = Jacobian
jacobian-norm = norm
jacobian-max = max 0.5
jacobian-most = The Frobenius norm of diag(α) − ααᵀ is at most ½: two keys with weight ½ each. It is 0 where one key has all the weight, and small where very many share it.
jacobian-enlarge = Enlarge the Jacobian
jacobian-picture = Jacobian of the row: how each weight answers each score
jacobian-underflow = Row and column of the underflowed key are 0 too: no gradient reaches its score.
jacobian-title = Jacobian of row { $row }, norm { $norm }
jacobian-explain = J = diag(α) − ααᵀ says how much the weight of the key at the left changes with the score of the key above: its own score raises it, every other lowers it, and each row adds up to 0. The norm is at most 0.5; where one key has all the weight it is 0, and no gradient passes.
jacobian-keys = Entries of the Jacobian; arrow keys move
jacobian-entry = ∂α({ $row }) / ∂s({ $col }) = { $value }
jacobian-diagonal = ∂α({ $row }) / ∂s({ $row }) = { $value }
jacobian-state = ∂α({ $row }) / ∂s({ $col }) = { $value }, { $state }
gradient = Gradient at the scores
gradient-of = of
gradient-typed = of the typed gradient at o
gradient-change = Type another gradient at the output
gradient-label = Gradient at the scores of the row; at { $key } it is { $value }
d-out-label = Gradient at the output, { $n } numbers
d-out-back = back to ½|o − v|²
d-out-unread = This is not a list of numbers. { $why }
d-out-count = Expected { $expected } numbers, one for each component of the output, got { $got }. Write them in one row, with spaces or semicolons between them.
output = Output
output-among = among the { $n } values
output-of-row = of row { $row }
output-picture = The output of the row among the values, seen in the plane in which they spread most
output-table = The output as a sum of weights times values
plane-own = plane with { $share } % of this row’s spread
plane-held = plane of row { $row }; shows { $share } % of this spread
plane-line = values with one component lie on a line
plane-nothing = no value has any weight: the output is 0 by rule
plane-one-point = one value has all the weight: no spread
plane-none = no plane: a value is beyond float64

# What the words mean, for whoever asks by a click, a tap or a key.
gloss-entropy = How spread out the weights of this row are: H = −Σ α ln α, in nats. 0 where one key has all the weight, ln n where n keys share it evenly.
gloss-effect = e to the entropy: so many keys with equal weights would be just as spread out.
gloss-top = The weight of the key from which this row reads most.
gloss-sum = The weights of a row add up to 1. With a sink logit the sink gets the rest; a row that sees no key has 0. Beside it, the logarithm of the softmax’s denominator (log-sum-exp).
gloss-sink = The share of the row that goes to the sink logit instead of to a key.
gloss-mean-top = The largest weight of each row, averaged. Near 1 nearly every row reads from one key: the softmax is saturated.
gloss-mean-norm = How far weights still answer to scores: the norm of each row’s Jacobian, averaged. Near 0 where one key has all the weight, small where very many share it, ½ at most.
gloss-column = The key that gets the most weight on average over the rows. With more than half it is called a sink: most of what the rows read is that one key’s value.
gloss-jacobian = How each weight of the row changes when a score changes: J = diag(α) − ααᵀ, a row and a column for each key. Its norm says how strongly: 0 where one key has all the weight, ½ at most, where two keys share it.
gloss-gradient = How a loss changes with each score of this row: what training sends back through the softmax. The loss is ½|o − v|², half the squared distance from the output to the value of the key looked at; a click on it takes another gradient.

# One cell, written out.
waterfall-title = One cell, written out
waterfall-of = of
waterfall-times = times
waterfall-terms = { $n } terms; each step adds one product.
waterfall-term = 1 term.
waterfall-asks = asks,
waterfall-answers = answers:
waterfall-steps = in { $n } steps
waterfall-sum = sum
waterfall-so-far = so far
waterfall-component = component
waterfall-in-s = in S
waterfall-cap = capped at { $cap }:
waterfall-bias = bias
waterfall-mask = mask
waterfall-label = The { $n } products of { $query } and { $key } add up to { $dot }; the score is { $score }.
waterfall-dot = dot product
waterfall-scaled = times scale
waterfall-capped = after the soft cap
waterfall-added = bias
waterfall-failed = The chart cannot be drawn: { $why }. Its numbers stand in the formulas below.

# The formulas of a cell.
formulas-label = The cell in formulas
formula-score = Score of { $query } for { $key }
formula-score-index = Score of query { $query } for key { $key }
formula-weight = Its weight, after the softmax over { $n } keys
formula-weight-one = Its weight, after the softmax over one key
formula-weight-sink = Its weight, over { $n } keys and a sink with logit { $sink }
formula-weight-max = Its weight, with the row maximum { $max } subtracted first
formula-nothing = Its weight: row { $query } sees no key
formula-nothing-note = 0/0, set to 0 by rule
formula-hidden-note = Hidden by the mask: the weight is exactly 0.
formula-finite-zero-note = The finite constant is low enough here: the weight underflows to 0.
formula-leak-note = The constant in place of −∞ is too small: a hidden key has weight.
formula-overflow-note = A score of this row is beyond float64 and is held at its end.
formula-sink = sink
formula-real = In real numbers
formula-real-body = ln *α* = { $ln }: positive, and too small for any float64.
formula-output = The output row
formula-output-more = The output row, { $n } smaller terms not written
formula-output-nothing = The output row: no value to take
formula-normed = q and k after QK-norm
formula-turned = q and k after rotation by their places
formula-normed-turned = q and k after QK-norm and rotation

# Numbers as a table.
table-which = Matrix
table-size = { $rows } × { $cols }
table-rows = rows { $first } to { $last }
table-cols = columns { $first } to { $last }
table-back = back
table-on = on
table-copy = Copy as CSV
table-copied = Copied.
table-not-copied = The browser keeps the clipboard to itself here. Copy the selected text by hand.
table-sees-nothing = row sees no key
table-overflow = beyond float64
table-q = Q, queries
table-k = K, keys
table-q-used = Q as used, after norm and rotation
table-k-used = K as used, after norm and rotation
table-v = V, values
table-s = S, scores
table-m = M, mask
table-a = A, weights
table-o = O, outputs
table-j = J, Jacobian of the row

# Where the tables and other dialogs are opened and closed.
dialog-close = close
table-open = Numbers as a table
table-title = Numbers as a table
