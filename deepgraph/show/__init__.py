from deepgraph.show.dot import to_dot, save_dot
from deepgraph.show.svg import to_svg, save_svg
