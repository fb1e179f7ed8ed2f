"""The names of HTML's elements, with those of SVG and MathML that hold text."""

from __future__ import annotations

from documents.ingestion.parsers.html.tree import names

KNOWN = names(
    "a abbr acronym address applet area article aside audio b base bdi bdo big blockquote body br"
    " button canvas caption center cite code col colgroup data datalist dd del details dfn dialog"
    " dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3"
    " h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map"
    " mark marquee math menu meta meter nav nobr noembed noframes noscript object ol optgroup"
    " option output p param picture plaintext pre progress q rp rt ruby s samp script search"
    " section select small source span strike strong style sub summary sup svg table tbody td"
    " template textarea tfoot th thead time title tr track tt u ul var video wbr xmp"
    " g path circle rect line text tspan defs desc use mi mo mn ms mtext mrow mfrac msup msub"
    " msqrt semantics annotation"
)
