// SPDX-License-Identifier: BSD-3-Clause
/*
 * account.ts - the post-mortem of a run that ended badly, as `heapwatch post-mortem` has it: the server's rows
 * (client/answers/account.h) under their subjects.
 */
import type { App } from "../app.ts";
import { h, replace, unbroken, visible } from "../dom.ts";
import type { Target } from "../state/target.ts";
import { type AccountRow, seconds } from "../state/wire.ts";
import { when } from "./common.ts";

const SUBJECTS: Record<string, string> = {
    end: "How it ended", kernel: "The kernel", memory: "Memory at the end", limit: "The limit", census: "The last census", bands: "Bands that grew most", said: "Last notes",
    pauses: "Last pauses", stream: "The stream",
};

export class Account {
    private list = h("dl", { class: "account" });
    readonly root = h("section", { class: "card", "aria-label": "Post-mortem" }, h("h3", {}, "Post-mortem"), this.list);
    private shown = "";

    constructor(private app: App) {}

    // `above`: subjects that are already on this page.
    show(t: Target | undefined, above: Set<string>): void {
        const rows = (t?.answers?.postMortem ?? []).filter((r) => !above.has(r.key));
        const now = JSON.stringify([rows, this.app.clock]);
        this.root.hidden = !rows.length;
        if (!t || now === this.shown) return;
        this.shown = now;
        replace(this.list, ...rows.map((r, i) => h("div", { "data-key": r.key, "data-tone": r.tone },
            r.key === rows[i - 1]?.key ? null : h("dt", {}, SUBJECTS[r.key] ?? r.key), h("dd", {}, this.text(t, r)))));
    }

    private text(t: Target, r: AccountRow): string {
        const at = seconds(r.timeNs);
        return unbroken(visible(`${r.text ?? ""}${at === undefined ? "" : when(this.app, t, at)}${r.after ?? ""}`));
    }
}
