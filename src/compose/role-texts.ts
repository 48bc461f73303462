import builder from "../../agents/builder.md" with { type: "text" };
import coordinator from "../../agents/coordinator.md" with { type: "text" };
import lead from "../../agents/lead.md" with { type: "text" };
import merger from "../../agents/merger.md" with { type: "text" };
import monitor from "../../agents/monitor.md" with { type: "text" };
import orchestrator from "../../agents/orchestrator.md" with { type: "text" };
import reviewer from "../../agents/reviewer.md" with { type: "text" };
import scout from "../../agents/scout.md" with { type: "text" };
import type { BuiltInTexts } from "../host/role-texts.ts";

/** The role texts that ship with the program. */
export const builtInTexts: BuiltInTexts = {
  orchestrator,
  coordinator,
  lead,
  scout,
  builder,
  reviewer,
  merger,
  monitor,
};
