# The inspector: the row under the cursor.
inspector-label = Row under the cursor

# What the signs mean, for whoever asks by a click, a tap or a key.
signs = Signs in the cells
gloss-signs = Cut corner: clipped, beyond the end of the colour scale. Hatch: hidden by the mask; with a dot, by hand. Cross hatch: the row sees no key, 0 by rule. Dotted frame with ▾: underflow, positive in real numbers and 0 in float64.

# The pipeline and the page around it.
lab-bench = Bench
stage-region = The pipeline from Q and K to O
stage-label = Q, K and V become scores, weights and outputs: { $nq } queries, { $nk } keys, d_k { $dk }, d_v { $dv }
stage-tabs = Steps of the computation
stage-role = matrix
stage-matrix = { $symbol }, { $rows } rows, { $cols } columns. { $how }
stage-how-edit = Arrow keys move, Enter or a digit edits, paste takes a block.
stage-how-mask = Arrow keys move, space hides or shows a cell.
stage-how-look = Arrow keys move, Enter pins the row.

# Cells in words, for the line below the picture and for screen readers.
cell-q = Q, query { $row } { $name }, component { $col }
cell-k = K, key { $col } { $name }, component { $row }
cell-v = V, value { $row } { $name }, component { $col }
cell-o = O, output { $row } { $name }, component { $col }
cell-of-two = { $matrix }, query { $row } { $query }, key { $col } { $key }
cell-x = X, token { $row }, component { $col }
cell-w = { $matrix }, row { $row }, column { $col }
cell-with = { $cell }: { $words }
cell-state = { $number }, { $state }
state-masked = hidden by the mask
state-by-hand = hidden by hand
state-empty = this row sees no key: 0 by rule
state-underflow = underflow: positive in real numbers, 0 in float64
state-overflow = beyond the range of float64

# Words on the picture.
title-softmax-rows = softmax of each row
title-capped = capped
title-normed = Q, K normed
title-turned = Q, K turned
title-normed-turned = Q, K normed and turned
title-biased = with ALiBi’s bias
title-as-used = as used
title-clipped = { $n } clipped
title-clipped-root = { $n } clipped, √ scale
mask-title-drawn = drawn by hand
mask-title-none = none: every key is seen. Drag here to hide some.
mask-title-and-by-hand = { $name } and by hand
mask-title-combined = masks combined
mask-title-hidden = { $name }, { $n } of { $all } hidden
mask-tap = Tap a cell to hide that key from that query.
arrow-softmax = softmax
arrow-values = weights × values
row-sums = row sums { $sum }
row-sum = row sum { $sum }
stage-hint = Point at a cell to follow it; a click pins it.
stage-hint-phone = Tap a cell to pin its row and column.
stage-change = change the number
stage-editing = New number for { $cell }
stage-esc-restores = { $error } Esc brings back { $was }.
stage-pasted = { $rows } × { $cols } numbers written into { $matrix }.
stage-copied = { $matrix } copied, tab-separated.
stage-not-copied = The browser keeps the clipboard to itself here. “Numbers as a table” has the same numbers.
stage-paste-computed = { $matrix } is computed: expected a paste into Q, K, V, X or a W. Click a cell of one of these and paste there.
stage-hidden-by-hand = Hidden by hand.
stage-shown-by-hand = No longer hidden by hand.
stage-nothing = There is no picture, because the engine that computes it does not run. The line at the top says why, and has a button that tries again; what you set meanwhile is kept.
stage-take = Take Q, K and V as typed numbers
stage-stale = The picture shows the last settings that could be computed.
tokens-title = Where Q, K and V come from:
tokens-placed = P holds the sinusoidal positions; the picture has X before they are added.
tokens-label = Tokens X and the projections W_Q, W_K, W_V
dismiss = dismiss
sheet-inputs = Inputs

# Header and inputs.
hide = hide
on = on
off = off
none = none
head = head
try-again = Try again
part-missing = This part of the page did not load. Check the connection, then try again.
engine-starting = starting the engine …
engine-failed = The engine does not run; the numbers on the screen are the last it computed.
number-whole = “{ $got }” is not a whole number. Write { $low } or { $high }.
number-none-whole = “{ $got }” is not a whole number. Write 7, say.
number-empty-whole = Expected a whole number, got nothing. Write 7, say.
seed = seed
suggested = Heads worth a look
example-no-answer = The example { $file } did not load: the server did not answer. Check the connection, then try again.
example-status = The example { $file } did not load: expected the file, got status { $status }. Check that the folder www/examples lies beside the page, then try again.
example-bad-file = The example { $file } cannot be read. { $why }
example-tensor = Expected { $expected }, got { $got }. Put the file of this version of the page in its place.
example-length = Expected { $expected } bytes, got { $got }. Put the file of this version of the page in its place.
example-unknown = There is no example “{ $name }”: expected one of { $names }. Choose one of these.
example-head = There is no head { $got } in this layer: expected 0 to { $most }. Choose one of these.
example-layer = There is no layer { $got } in this example: expected 0 to { $most }. Choose one of these.
scale = Scale
hidden = Hidden keys get
positions = Positions
sink = Sink logit
undone = Undone.
redone = Redone.
engine-one = float64, one thread
engine-threads = float64, { $n } threads
job-stopped = Stopped as you asked.
engine-restarted = The engine had to start again. Your numbers and settings are as they were.
unpinned = The row is no longer pinned.
running = Computing, { $share } % of the rows done.
running-stop = Stop
fast-agrees = Float32 check: O within { $error }.
fast-overflow = { $n } scores are beyond float32 (±3.4e38), so it cannot be compared there.
fast-missing = Float32 check: its file did not load.
fast-help = The same attention through the fast kernel (float32, in tiles, with online softmax): the largest difference between its outputs and the float64 ones on the screen.

# ---- links ----
link-title = Not all of this link could be opened.
link-value = { $key }: expected { $expected }, got “{ $got }”. It is left out; correct it in the address or set it here.
link-count = { $key }: expected { $expected } values, got { $got }. Those that have a place are used, and the others are 0.
link-unknown = “{ $key }” is not known here and is left out. It may come from a newer version, or the address was cut or mistyped.
link-newer = The link says version { $got }; this page reads version { $expected }. What it understands is opened. Reload for the newest version.
link-twice = { $key }: expected it once, got it again. The first is used.
link-too-long = The link has { $got } letters: expected { $most } at most. What comes after them is left out.
link-more = And { $n } more of the kind.
link-whole = a whole number
link-pin = query,key
link-numbers = numbers with commas between them
link-edit = tensor:cell:number, with commas between cells
link-src = example(sentence,layer), random(seed,sigma), tokens(seed,d_model) or typed, with a seed from 1 to 2147483646
link-sinusoidal = tokens(…) as its source: sinusoidal positions are added to tokens
link-option = { $why } The link's setting is left out.
link-cells = The sizes of the link make { $got } numbers in a tensor: expected { $most } at most. Sizes of its kind are used instead.
link-fixed-size = { $key }: a real head has its own sizes, so the link's is left out.
link-tokens-square = Tokens attend to each other: expected as many keys as queries. The number of queries is used.
link-not-typed = { $key }: expected src=typed with whole matrices. Its numbers are left out; single cells of other sources are changed with edit=.
link-no-cell = edit: there is no cell { $at } of { $tensor }. It is left out.
link-numbers-missing = The numbers of this link were too many to travel in it, so there are zeros in their place. Ask who made it for the numbers and paste them into Q, K and V.
link-typed-too-long = The typed numbers take { $letters } letters, more than the { $most } that a link carries safely: it opens with the sizes and settings, and zeros. Draw them from a seed, or hand the numbers over beside the link.
link-edits-too-long = The cells changed by hand take { $letters } letters, more than the { $most } that a link carries safely: it opens with the source as it was before they were changed.
locked = The numbers are fixed in this view. Open it in Attention Lab to change them.
link-opened = A link was opened.
