// SPDX-License-Identifier: BSD-3-Clause
/*
 * control.ts - requests a change from the server (docs/WEB.md, "Control"). The daemon decides: its refusal is the error.
 */
export async function control(fields: Record<string, string | number | undefined>): Promise<{ program?: string }> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== "") form.set(name, String(value));
    const answer = await fetch("api/control", { method: "POST", headers: { "X-Heapwatch": "control" }, body: form });
    if (answer.ok) return (await answer.json()) as { program?: string };
    const body = (await answer.json().catch(() => ({}))) as { error?: string };
    throw new Error(body.error ?? `the server answered ${answer.status}`);
}
