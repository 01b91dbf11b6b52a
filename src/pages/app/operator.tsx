import { render } from "preact";
import { OperatorPage } from "./operator/operator-page.js";

const place = document.getElementById("page");
if (place !== null) render(<OperatorPage />, place);
