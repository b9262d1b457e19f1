// SPDX-License-Identifier: BSD-3-Clause
/*
 * flame.ts - the libraries of the flame graph, a third of all code, as a script of their own: it is in the document as text and is
 * run when the first flame graph is drawn (widgets/flame.ts).
 */
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";

const library = { flamegraph, select };
export type FlameLibrary = typeof library;

declare global {
    interface Window {
        heapwatchFlame?: FlameLibrary;
    }
}
window.heapwatchFlame = library;
