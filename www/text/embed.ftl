# Words of a view in somebody else's page.
embed-open = open in Attention Lab
embed-wrong = { $key }: expected some of { $known }, got “{ $got }”. It is left out; correct it in the address of the frame.
