"""Small .dot files, one in each form, that tests change and read."""

#: A small program: one value read twice, one control dependency.
PLAIN = """digraph step {
  a [op=placeholder, value="f32[2,2]", phase=forward, kind=INPUT, source="input:0"];
  b [op="aten.add.Tensor", args="(_, _, alpha=2)", value="f32[2,2]", phase=forward, kind=OTHER];
  c [op="aten.relu.default", args="(_)", value="f32[2,2]", phase=forward, kind=OTHER, output=loss];
  a -> b [arg="0"];
  a -> b [arg="1"];
  b -> c [arg="0"];
  a -> c [style=dashed];
}
"""

#: A drawing in the older form: label, colour and edges, with traces of a layout.
THIN = """digraph G {
  graph [bb="0,0,100,200"];
  node [label="\\N", style=filled];
  n0 [label="x: INPUT", fillcolor=LightBlue, pos="27,18"];
  n1 [label="w: WEIGHT", color=lightgreen];
  n2 [label="h: mm", fillcolor=yellow];
  n3 [label="h: relu\\n512 x 64", fillcolor=yellow];
  n4 [label="h_recomp: RELU", fillcolor=orange];
  n5 [label="d_h: MUL", fillcolor=lightpink];
  n6 [label="d_w: MM", fillcolor=lightcoral];
  n7 [label=<<b>html</b>>, fillcolor=chartreuse];
  n0 -> n2 [pos="e,1,2"]; n1 -> n2; n2 -> n3;
  n2 -> n4; n3 -> n5; n5 -> n6; n4 -> n6; n4 -> n6; n6 -> n7; n1 -> n7;
  n5 -> n4 [style="dashed,bold"];
}"""
