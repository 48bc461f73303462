import { conformance } from "../../../testkit/conformance/kit.ts";

conformance("copilot-acp");
