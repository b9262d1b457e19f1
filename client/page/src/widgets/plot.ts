// SPDX-License-Identifier: BSD-3-Clause
// plot.ts - what a chart shows: lines over common times, with marks.
import type { Span } from "../range.ts";
import type { Gap } from "../state/series.ts";

export interface Line {
    id: string;
    label: string;
    color: string;
    values: (number | null)[];
    kind?: "area" | "line" | "points" | "step";
    last?: number; // what is said of it, where that is not its newest value: a run's last ones are those before its shutdown
    dash?: boolean; // a limit rather than a measurement
    gaps?: Gap[]; // where nothing is known: no line is drawn over these, in order of time
    hatch?: boolean; // in a stack: distinguished by lines, not by colour
}

export interface Marker {
    t: number;
    text: string;
    faint?: boolean; // a tick on the axis instead of a line
    solid?: boolean; // not of the program itself: a deploy
}

export interface Plot {
    x: number[];
    lines: Line[];
    stacked?: boolean;
    markers?: Marker[]; // the most important first: its label has the first choice of a place
    range: Span;
    top?: number; // fixed top of the y axis
    start?: number; // Unix seconds of time 0: the axis shows the clock
}
