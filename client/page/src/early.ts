// SPDX-License-Identifier: BSD-3-Clause
/*
 * early.ts - requests what the first picture needs before the page's script is read: a script of its own, first in the document. The
 * page takes over these requests (api/early.ts), or does without. A report has its data, and requests nothing.
 */
import { CHANNELS, type Early } from "./api/early.ts";
import { firstQuestion, historyAddress, streamAddress } from "./api/questions.ts";
import { parseFixed, slidingWidth } from "./range.ts";

const m = /^#\/([a-z-]*)(?:\?(.*))?$/.exec(location.hash), values = new URLSearchParams(m?.[2] ?? "");
const page = m?.[1] || (values.get("target") ? "target" : "overview"), target = page === "overview" || page === "compare" ? "" : values.get("target") ?? "";

const early: Early = { kept: [] }, live = !document.getElementById("data");
if (live && target) { // first: the server has to ask the daemon for it
    const range = values.get("range") ?? "15m";
    early.historyAddress = historyAddress(firstQuestion(page, target, parseFixed(range) ? undefined : slidingWidth(range)));
    early.history = fetch(early.historyAddress);
    early.history.catch(() => undefined); // the code that takes it over handles the failure
}
if (live && page !== "compare") {
    early.streamAddress = streamAddress(target ? [target] : [], page === "detail");
    early.source = new EventSource(early.streamAddress);
    for (const name of CHANNELS) early.source.addEventListener(name, (e) => early.kept?.push([name, (e as MessageEvent<string>).data]));
}
window.heapwatchEarly = early;
