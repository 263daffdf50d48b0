"""The pages of the app, one entry each, in the order in which they are offered.

Navigation, link and notebooks read this table: a new page is an entry here and its script.
"""

from pages.shared.page import Notebook, Page, rivals

__all__ = ["PAGES", "Notebook", "Page", "page_named", "views"]

START, METHOD, STRESS, EVIDENCE, USE = "Start", "The method", "Stress", "Evidence", "Use"  # groups

LATER = "Idle here: the split comes before it."
STORED = "Idle here: these are stored runs."
SEEDS = "Idle here: all five seeds are run."
KNOBS = ("beta", "clients", "alpha", "steps", "gamma")

PAGES: tuple[Page, ...] = (
    Page(
        "pages/explore.py",
        "Explore",
        START,
        "Move a knob: the numbers, the map and the message follow at once.",
        Notebook(
            "01_explore",
            "Clients send one mean a class and a count; the server pulls uncertain means to their "
            "peers, averages by count and names a node after the nearest result.",
            r"\lambda_{kc} = \frac{1}{1 + \gamma\, n_{kc}}",
        ),
        {
            "view": ("Silhouette", "Confusion", "Prototypes", "Time and bytes"),
            "show": ("both", "local", "global"),
            "colour": ("class", "client", "right or wrong"),
            "digit": tuple("0123456789"),
        },
    ),
    Page(
        "pages/learn.py",
        "Learn",
        START,
        "Answer before you look: seven small steps make the whole method, one goes beyond.",
        Notebook(
            "02_learn",
            "The method in seven steps and one beyond; here is the run that the lesson asks about.",
            r"\hat y = \arg\max_c \cos(z, g_c)",
        ),
        {
            "learn": tuple("12345678"),
            "learn_n": ("2", "1", "4", "8"),
            "learn_node": tuple(str(i) for i in range(20)),
        },
    ),
    Page(
        "pages/split.py",
        "Split",
        METHOD,
        "Turn β and K and see what every client is left with.",
        Notebook(
            "03_split",
            "Every class is cut into shares, one a client; a small β gives nearly all of "
            "it to one.",
            r"q \sim \mathrm{Dir}(\beta)",
        ),
        {"split_count": ("all nodes", "training nodes")},
        dict.fromkeys(("alpha", "steps", "gamma"), LATER),
    ),
    Page(
        "pages/smooth.py",
        "Smooth",
        METHOD,
        "Follow one node: click it, type its id, and see how its neighbours change it.",
        Notebook(
            "04_smooth",
            "Every node is mixed with its neighbours before anything is averaged.",
            r"Z^{(t+1)} = (1 - \alpha)\,\tilde X + \alpha\,\hat A\,Z^{(t)}",
        ),
        {"smooth_curve": ("Accuracy over α", "Accuracy over T", "Silhouette over α")},
    ),
    Page(
        "pages/shrink.py",
        "Shrink",
        METHOD,
        "See how far peers pull a prototype of few nodes, and whether that helps.",
        Notebook(
            "05_shrink",
            "A prototype from few nodes is pulled towards those of its peers.",
            r"\tilde p = (1 - \lambda)\,p + \lambda\,\bar p, "
            r"\qquad \lambda = \frac{1}{1 + \gamma n}",
        ),
        {
            "shrink": (
                *("Accuracy over γ", "What carries the gain"),
                *("Proposition 1", "Does the model hold"),
            ),
            "centroid": ("test nodes", "all nodes"),
            "sigma2": ("1", "0.1", "0.2", "0.5", "2", "5", "10"),
            "tau2": ("0.5", "0", "0.01", "0.05", "0.1", "0.2", "1", "2", "5"),
            "samples": ("3", "1", "2", "5", "8", "10", "20", "50", "100"),
        },
    ),
    Page(
        "pages/noise.py",
        "Noise",
        STRESS,
        "Spoil edges, features or labels and see what smoothing repairs.",
        Notebook(
            "06_noise",
            "Edges, features and labels of the clients are spoilt; what is measured against stays "
            "clean.",
            r"\rho E / 2 \text{ edges deleted, } \rho E / 2 \text{ added}",
        ),
        {
            "noise_view": (
                *("Edges", "Features", "Labels replaced", "Labels kept"),
                *("Where noise acts", "The paper's table"),
            )
        },
    ),
    Page(
        "pages/attack.py",
        "Attack",
        STRESS,
        "Let clients lie, then choose how the server defends itself.",
        Notebook(
            "07_attack",
            "Some clients lie; the server checks what cannot be true and may defend itself.",
            r"y \to y + 1, \qquad n \to r\,n",
        ),
        {"attack_view": ("Classes", "Map", "Pictures", "Damage", "Defences", "Paper")},
    ),
    Page(
        "pages/privacy.py",
        "Privacy",
        STRESS,
        "Look at what one upload gives away, then hide it under noise.",
        Notebook(
            "08_privacy",
            "Noise on sums and counts hides what a single node is.",
            r"\sigma = \Delta / \mu(\varepsilon, \delta)",
        ),
    ),
    Page(
        "pages/sensitivity.py",
        "Sensitivity",
        EVIDENCE,
        "Choose a knob and see what depends on it; a click opens the run behind a point.",
        Notebook(
            "09_sensitivity",
            "Every combination is run with the paper's five seeds.",
            r"\Pi = \sum_t w_t \hat A^t",
        ),
        {
            "sens": ("One knob", "Two knobs", "Homophily and α"),
            "sens_x": ("alpha", "gamma", "steps", "beta", "clients"),
            "sens_y": ("gamma", "alpha", "steps", "beta", "clients"),
        },
        {"seed": SEEDS},
    ),
    Page(
        "pages/paper.py",
        "Paper",
        EVIDENCE,
        "Hold every printed figure beside ours; a click opens its setting.",
        Notebook(
            "10_paper",
            "What the paper prints, beside what was measured.",
            r"\text{mean} \pm \text{standard deviation over five seeds}",
        ),
        {
            "paper": ("Tables", "Curves", "Maps", "Where it does not hold"),
            "paper_table": (  # the names in spear_core.paper.tables, whose import takes long
                *("main", "ablation", "perturbation", "byzantine", "heterophily", "scalability"),
                *("heuristics", "silhouette", "prototype error", "communication", "seconds"),
                *("claims", "speed", "datasets"),
            ),
            "paper_curve": ("β curve", "γ curve", "T curve", "α curve", "boundary"),
        },
        dict.fromkeys((*KNOBS, "seed", "lab"), STORED),
    ),
    Page(
        "pages/compare.py",
        "Compare",
        EVIDENCE,
        "Hold SPEAR beside methods that train, on the very same split.",
        Notebook(
            "11_compare",
            "A trained method on the very same split.",
            r"\theta \leftarrow \sum_k p_k\,\theta_k",
        ),
        {
            "compare": (
                *("Accuracy", "Over rounds", "Time against accuracy", "Over β"),
                "Representations",
            ),
            "compare_method": rivals,
            "compare_recipe": ("default", "literature"),
            "compare_rounds": ("25", "5", "10", "50", "100"),
        },
        {"lab": "Left out here: the rivals know neither noise nor liars; all is clean."},
    ),
    Page(
        "pages/beyond.py",
        "Beyond",
        EVIDENCE,
        "Go from SPEAR to LANCE step by step: what it gains, what it costs, where it loses.",
        Notebook(
            "12_beyond",
            "A message of SPEAR's shape, read as one ridge regression over all clients.",
            r"W = A^\top (A A^\top + \lambda I)^{-1} D",
        ),
        {
            "beyond": ("This graph", "All eight", "Bytes", "The gate", "Where it loses"),
            "beyond_part": (
                *("Dirichlet, β = 0.05", "Dirichlet, β = 1", "Dirichlet, β = 10"),
                *("Louvain", "IID"),
            ),
        },
        {"lab": "Left out here: all of it is clean but the stored runs with liars."},
    ),
    Page(
        "pages/deploy.py",
        "Deploy",
        USE,
        "Copy the commands that run these settings between real machines.",
        Notebook(
            "13_deploy",
            "What a federation of these clients would send.",
            r"4\,|C_k|\,(F + 2) \text{ bytes a client}",
        ),
    ),
    Page(
        *("pages/your_graph.py", "Your graph", USE),
        "Drop your own graph here, look at it, keep it, and ask whether training-free will do.",
        Notebook(
            *("14_your_graph", "Two tables are a dataset; training labels say what to expect."),
            r"\hat a = \frac{1}{n} \sum_i [\hat y_{-i} = y_i]",
        ),
        {"your_files": ("Two tables", "GraphML", "Geom-GCN", "A shared graph")},
    ),
)


def page_named(name: str) -> Page:
    """The page with this path in the address."""
    return next(page for page in PAGES if page.name == name)


def views() -> dict[str, tuple[str, ...]]:
    """Every parameter of the link that a page owns, with its choices."""
    found = {name: choices for page in PAGES for name, choices in page.views.items()}
    return {name: choices() if callable(choices) else choices for name, choices in found.items()}
