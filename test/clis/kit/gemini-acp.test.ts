import { conformance } from "../../../testkit/conformance/kit.ts";

conformance("gemini-acp");
