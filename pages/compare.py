"""Compare: SPEAR beside the trained methods, stored runs and live ones, all on clean data."""

import streamlit as st

from pages.parts import compare_live, compare_spaces, compare_table
from pages.shared import estimator, frame, lab, link, runs, show
from spear_core import PAPER_SEEDS
from spear_core.baselines import METHODS
from spear_core.baselines.views import beta_trend
from spear_core.figures import compare as figures
from spear_core.measures.spread import mean_and_spread, with_spread
from spear_core.paper import rivals
from spear_core.settings import equation
from spear_core.sweeps import sweep

TABLE, ROUNDS, PARETO, BETA, SPACE = link.choices("compare")
BETAS = (0.05, 0.1, 0.3, 0.5, 1.0)

given = frame.settings()
settings = lab.cleaned(given)  # the rivals know neither noise nor liars
result = runs.result_or_stop(settings)
rows = compare_live.all_rows()
every = compare_live.at(settings, rows)
found = [s for s in every if s.clients == settings.clients]
chosen = runs.seeds_for(result)
seeds = [100 * a for a in runs.over_seeds(settings, chosen) if a is not None]
spear = mean_and_spread(seeds) if seeds else (0.0, 0.0)
reached = f"five seeds: {with_spread(*spear)}"
if runs.heavy(result):
    reached = f"seed {settings.seed} alone, since a run takes a while: {spear[0]:.1f}"
theirs = rivals.accuracies(settings.dataset, settings.clients, settings.beta)
ours = estimator.name_of(settings)
shown = compare_table.table(result, spear, found, theirs, ours)

st.caption(
    f"{settings.dataset}, {equation('clients', settings.clients)}, "
    f"{equation('beta', settings.beta)}: the same split, the same "
    f"labels, tested on the full graph. {ours}, {reached} %."
)
if left_out := lab.in_words(given):
    st.markdown(f"All on clean data here. Left out, for {ours} too: {', '.join(left_out)}.")
view = show.switch("View", link.choices("compare"), "compare", label_visibility="collapsed")
made = ""
if found:
    rounds = sorted({s.rounds for s in found})
    many = sorted({len(s.seeds) for s in found})
    span = [f"{v[0]}" if len(v) == 1 else f"{v[0]} to {v[-1]}" for v in (rounds, many)]
    made = f"Stored runs of {span[0]} rounds, means of {span[1]} seeds."
elif view in (TABLE, ROUNDS):
    st.info(
        "No trained run is stored for this dataset, K and β. Run one below, or choose Cora, "
        "CiteSeer or PubMed with K = 10 and β = 0.05."
    )
if view == TABLE:
    if found:
        alt = f"Accuracy of {len(found)} stored runs, {ours} {spear[0]:.1f} %."
        missing = rivals.unmeasured({s.method for s in found})
        chart = figures.accuracies(found, spear, theirs, missing, ours)
        code = f"{compare_live.LINES}missing = unmeasured({{one.method for one in found}})\n"
        code += f"draw.accuracies(found, {spear}, theirs, missing, {ours!r})"
        show.chart(chart, "compare-table", alt, code=code)
    compare_table.draw(shown)
    titles = [METHODS[s.method].title for s in found]
    beaten = [
        f"{name} ({100 * s.accuracy:.1f} against {theirs[name]:.1f})"
        for s, name in zip(found, titles, strict=True)
        if s.recipe == "default" and 100 * s.accuracy > theirs.get(name, 100)
    ]
    if beaten:
        st.markdown(f"**Better here than the paper prints**: {', '.join(beaten)}.")
    ahead = [t for s, t in zip(found, titles, strict=True) if 100 * s.accuracy > spear[0]]
    if ahead:
        st.markdown(f"**Ahead of {ours} here**: {', '.join(dict.fromkeys(ahead))}.")
    st.caption(made)
    took, sizes = rivals.seconds(settings.dataset), rivals.traffic(settings.dataset)
    paper = ""
    if took:
        paper = (
            f" The paper prints {took['FedAvg']:g} s and {sizes['FedAvg']:g} MB for 100 rounds of "
            f"FedAvg, {took['SPEAR']:g} s and {sizes['SPEAR']:g} KB a client for SPEAR."
        )
    st.caption(
        "Each method has the settings we found it to do well with, without weight decay; the "
        "field's 5e-4 is shown beside, since FedAvg collapses with it under strong skew. The five "
        "one-shot methods come first; what of them is our reconstruction stands in their notes. "
        "FedProto has no global model: its clients' models are averaged once, at the end, or "
        "answer together (clients' heads)." + paper
    )
elif view == ROUNDS and found:
    alt, code = "Accuracy after every round.", f"draw.over_rounds(found, {spear}, {ours!r})"
    figure, code = figures.over_rounds(found, spear, ours), f"{compare_live.LINES}{code}"
    show.chart(figure, "compare-rounds", alt, code=code)
    st.caption(made)
elif view == PARETO:
    bubbles = compare_live.spear_at(settings)
    alt, code = "Seconds against accuracy.", f"draw.pareto(every, bubbles, {ours!r})"
    code = f"{compare_live.LINES}bubbles = {bubbles}  # as they were timed\n{code}"
    show.chart(figures.pareto(every, bubbles, ours), "compare-pareto", alt, code=code)
    clients = ", ".join(
        str(k) for k in sorted({*(b[2] for b in bubbles), *(s.clients for s in every)})
    )
    st.caption(
        f"The larger a bubble, the more clients (here K = {clients}); hollow: with weight decay. "
        "Processor seconds of all clients and the server, one after another; "
        f"{ours}'s are taken now with seed {settings.seed}, the median of three runs. {made}"
    )
elif view == BETA and (
    runs.quick(result)
    or st.toggle(f"Make the {10 * len(BETAS)} runs or more", key="compare_beta_runs")
):
    trends = {
        f"FedAvg, {words}": trend
        for recipe, words in compare_live.TRAINED_AS.items()
        if (
            trend := beta_trend(
                rows, settings.dataset, "fedavg", settings.clients, recipe, settings
            )
        )
    }
    betas = sorted({*BETAS, *(s.beta for trend in trends.values() for s in trend)})
    lines = {}
    for alpha in (0.15, 0.8):
        swept = sweep(settings, seed=PAPER_SEEDS, beta=betas, alpha=[alpha])
        groups = [(b, 100 * g["accuracy"].dropna()) for b, g in swept.groupby("beta")]
        lines[f"{ours}, {equation('alpha', alpha)}"] = [
            (b, g.mean(), g.std(ddof=0)) for b, g in groups if len(g)
        ]
    code = f"{compare_live.LINES}{compare_live.TRENDS}".replace("OURS", repr(ours))
    code = code.replace("BETAS", repr(betas)) + "draw.boundary(trends, lines)"
    show.chart(figures.boundary(trends, lines), "compare-beta", "Accuracy over β.", code=code)
    counts = [f"{len(s.seeds)} seeds of {s.rounds} rounds" for t in trends.values() for s in t]
    st.caption(
        f"{ours}: means and spread of five seeds. FedAvg: {' or '.join(dict.fromkeys(counts))}."
        if trends
        else "No FedAvg run over β is stored for this dataset and K; Cora with K = 10 has some."
    )
elif view == SPACE:
    compare_spaces.draw(result)
st.markdown("##### Run one now")
compare_live.live(settings, result)
show.export({"methods": shown})
show.same_in_python(
    settings,
    f"{ours} beside FedAvg",
    "from spear_core.baselines import defaults, train",
    'f = train(s, defaults("fedavg", rounds=5))',
    "print(r.metrics.accuracy, f.accuracy, f.histogram)",
)
