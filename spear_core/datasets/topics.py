"""What the labels of the public graphs stand for, in their order.

The orders were checked against the label counts of the real files (the tests hold them). PubMed's
types of diabetes stand the other way round than one would guess: label 1 has the 7,739 papers on
type 2, label 2 the 7,875 on type 1, as its publishers count them, and the word "2" is in 80 % of
the papers of label 1, "1" most often in those of label 2. Texas, Actor, Chameleon and their like
name no label in their files.
"""

_ARXIV = (
    "NA MM LO CY CR DC HC CE NI CC AI MA GL NE SC AR CV GR ET SY "
    "CG OH PL SE LG SD SI RO IT PF CL IR MS FL DS OS GT DB DL DM"
)

TOPICS: dict[str, tuple[str, ...]] = {
    "Cora": (
        "Theory",
        "Reinforcement Learning",
        "Genetic Algorithms",
        "Neural Networks",
        "Probabilistic Methods",
        "Case Based",
        "Rule Learning",
    ),
    "CiteSeer": ("AI", "ML", "IR", "DB", "Agents", "HCI"),  # 15 of "AI" are papers without words
    "PubMed": ("experimental diabetes", "type 2 diabetes", "type 1 diabetes"),
    "Computers": (
        "Desktops",
        "Data Storage",
        "Laptops",
        "Monitors",
        "Computer Components",
        "Video Projectors",
        "Routers",
        "Tablets",
        "Networking Products",
        "Webcams",
    ),
    "Coauthor-CS": (
        "bioinformatics",
        "machine learning",
        "computer vision",
        "NLP",
        "graphics",
        "networks",
        "security",
        "databases",
        "data mining",
        "game theory",
        "HCI",
        "information theory",
        "medical informatics",
        "robotics",
        "theoretical CS",
    ),
    "WikiCS": (
        "Computational linguistics",
        "Databases",
        "Operating systems",
        "Computer architecture",
        "Computer security",
        "Internet protocols",
        "Computer file systems",
        "Distributed computing architecture",
        "Web technology",
        "Programming language topics",
    ),
    "ogbn-arxiv": tuple(f"cs.{area}" for area in _ARXIV.split()),
}
