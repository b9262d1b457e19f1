// SPDX-License-Identifier: BSD-3-Clause
/*
 * early.ts - asks the server for what the first picture needs while the page's script is still on its way: a script of its own, one
 * kilobyte, first in the document. The page takes over what was asked (api/early.ts), or does without.
 */
import { CHANNELS, type Early } from "./api/early.ts";
import { firstQuestion, historyAddress, streamAddress } from "./api/questions.ts";
import { parseStanding, slidingWidth } from "./range.ts";

const m = /^#\/([a-z-]*)(?:\?(.*))?$/.exec(location.hash), values = new URLSearchParams(m?.[2] ?? "");
const page = m?.[1] || "overview", target = page === "overview" || page === "compare" ? "" : values.get("target") ?? "";

const early: Early = { kept: [] };
if (page !== "compare") {
    early.streamAddress = streamAddress(target ? [target] : [], page === "detail");
    early.source = new EventSource(early.streamAddress);
    for (const name of CHANNELS) early.source.addEventListener(name, (e) => early.kept?.push([name, (e as MessageEvent<string>).data]));
}
if (target) {
    const range = values.get("range") ?? "15m";
    early.historyAddress = historyAddress(firstQuestion(target, parseStanding(range) ? undefined : slidingWidth(range)));
    early.history = fetch(early.historyAddress);
    early.history.catch(() => undefined); // whoever takes it over is told
}
window.heapwatchEarly = early;
