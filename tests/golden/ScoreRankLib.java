import ciir.umass.edu.learning.CoorAscent;
import ciir.umass.edu.learning.DataPoint;
import ciir.umass.edu.learning.DenseDataPoint;
import ciir.umass.edu.learning.tree.LambdaMART;
import ciir.umass.edu.learning.tree.RFRanker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.ToDoubleFunction;

/** Prints RankLib's score of each line of a data file: java -cp RankLib.jar ScoreRankLib.java MODEL DATA. */
public class ScoreRankLib {
    public static void main(String[] arguments) throws Exception {
        ToDoubleFunction<DataPoint> model = load(Files.readString(Path.of(arguments[0])));
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            System.out.println(model.applyAsDouble(new DenseDataPoint(line)));
        }
    }

    static ToDoubleFunction<DataPoint> load(String text) {
        if (text.startsWith("## LambdaMART")) {
            LambdaMART found = new LambdaMART();
            found.loadFromString(text);
            return found::eval;
        }
        if (text.startsWith("## Random Forests")) {
            RFRanker found = new RFRanker();
            found.loadFromString(text);
            return found::eval;
        }
        CoorAscent found = new CoorAscent();
        found.loadFromString(text);
        return found::eval;
    }
}
