// SPDX-License-Identifier: BSD-3-Clause
// The part of d3-flame-graph that is used; the package brings no types.
declare module "d3-flame-graph" {
    export interface FlameGraph {
        width(w: number): FlameGraph;
        height(h: number): FlameGraph;
        cellHeight(h: number): FlameGraph;
        minFrameSize(px: number): FlameGraph;
        transitionDuration(ms: number): FlameGraph;
        inverted(yes: boolean): FlameGraph;
        sort(yes: boolean): FlameGraph;
        title(text: string): FlameGraph;
        onClick(f: (d: never) => void): FlameGraph;
        onHover(f: (d: never) => void): FlameGraph;
        setColorMapper(f: (d: never, original: string) => string): FlameGraph;
        setLabelHandler(f: (d: never) => string): FlameGraph;
        setSearchMatch?(f: (d: never, term: string) => boolean): FlameGraph;
        search(term: string): void;
        zoomTo(node: unknown): void;
        resetZoom(): void;
        destroy?(): void;
    }
    export default function flamegraph(): FlameGraph;
}
