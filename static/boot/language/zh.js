// The page in Chinese.
import table from "../../language/zh.json";
import { speak } from "./index.js";

speak("zh", table);
