// SPDX-License-Identifier: BSD-3-Clause
/*
 * control.ts - requests a change from the server (docs/WEB.md, "Control"). The daemon decides: its refusal is the error.
 */
import { taken } from "./request.ts";

export function control(fields: Record<string, string | number | undefined>): Promise<{ program?: string }> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== "") form.set(name, String(value));
    return taken(fetch("api/control", { method: "POST", headers: { "X-Heapwatch": "control" }, body: form }));
}
