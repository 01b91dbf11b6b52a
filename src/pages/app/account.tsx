import { render } from "preact";
import { AccountPage } from "./account/account-page.js";

const place = document.getElementById("page");
if (place !== null) render(<AccountPage />, place);
