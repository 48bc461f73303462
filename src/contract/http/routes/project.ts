import { examinationView, fixReportView } from "../../views/doctor.ts";
import { notifyTestView } from "../../views/notify.ts";
import { configKeyView, savedConfigView, servicesView } from "../../views/project.ts";
import { auditEntryView, issuedKeyView, webKeyView } from "../../views/web.ts";
import { change, cursorOf, listOf, page, read } from "../route.ts";

/** Addresses of the settings and the health of the project. */
export const projectRoutes = {
  "GET /api/doctor": read("doctor.examine", ({ checks }) => examinationView(checks), { defaults: { categories: [] } }),
  "GET /api/config": read("config.list", (keys) => listOf(keys.map(configKeyView))),
  "PUT /api/config": change(
    "config.set",
    ({ file, isWritten, before, after, inForce }) => ({
      key: configKeyView(after),
      file,
      changed: isWritten,
      before: before ?? null,
      inForce,
    }),
    {
      defaults: { local: false },
    },
  ),
  "GET /api/config/file": read("config.readFile", ({ file, text }) => ({ file, text }), { defaults: { local: false } }),
  "PATCH /api/config": change("config.save", savedConfigView, { defaults: { local: false } }),
  "GET /api/services": read("engine.services", servicesView),
  "POST /api/notify/test": change("notify.test", notifyTestView),
  "GET /api/keys": read("web.listKeys", ({ keys }) => listOf(keys.map(webKeyView))),
  "POST /api/keys": change("web.issueKey", issuedKeyView, { fixed: { kind: "token" }, defaults: { role: "viewer" } }),
  "DELETE /api/keys/:id": change("web.revokeKeys", ({ revoked }) => ({ revoked })),
  "GET /api/audit": read(
    "audit.list",
    ({ entries, older }) => ({
      items: entries.map(auditEntryView),
      ...(older === null ? {} : { next: cursorOf({ before: older }) }),
    }),
    { defaults: page, isPaged: true },
  ),
  "POST /api/doctor": change("doctor.fix", fixReportView, {
    defaults: { categories: [], only: [], dryRun: false },
    isLong: true,
  }),
} as const;
