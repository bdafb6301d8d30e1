<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use PHPUnit\Framework\TestCase;

use function HealthInterop\Tools\generated;

/** The files of the package. */
final class PackageTest extends TestCase
{
    private const FOLDER = __DIR__ . '/..';

    public function testShapesAndSearchesAreWhatTheApiDescriptionAndTheContractSay(): void
    {
        require_once self::FOLDER . '/tools/generate.php';
        foreach (generated() as $file => $source) {
            self::assertStringEqualsFile($file, $source, 'Run php clients/php/tools/generate.php and read the difference.');
        }
    }

    public function testEveryFileIsStrictAndSaysWhatItIs(): void
    {
        $files = iterator_to_array(self::files('src'));
        self::assertGreaterThan(40, count($files));
        foreach ($files as $file) {
            self::assertMatchesRegularExpression('~^<\?php\n\n// [^\n]+\n(// [^\n]+\n)*\ndeclare\(strict_types=1\);\n\nnamespace HealthInterop~', (string) file_get_contents($file), $file);
        }
    }

    public function testEveryFileIsReadableToPhp(): void
    {
        foreach (['src', 'tests', 'tools', 'samples'] as $folder) {
            foreach (self::files($folder) as $file) {
                \PhpToken::tokenize((string) file_get_contents($file), TOKEN_PARSE);
                $this->addToAssertionCount(1);
            }
        }
    }

    public function testEveryPublicMethodHasADocblock(): void
    {
        foreach (self::files('src') as $file) {
            $name = 'HealthInterop\\' . strtr(substr($file, strlen((string) realpath(self::FOLDER . '/src')) + 1, -4), '/', '\\');
            $class = new \ReflectionClass($name);
            self::assertNotFalse($class->getDocComment(), $name);
            foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
                $known = $method->getFileName() === $file && !$method->isConstructor() && !$class->implementsInterface(\Stringable::class);
                if ($known && !($method->getName() === 'send' && $class->isFinal())) {
                    self::assertNotFalse($method->getDocComment(), "$name::{$method->getName()}");
                }
            }
        }
    }

    /** @return \Generator<string> */
    private static function files(string $folder): \Generator
    {
        $all = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator((string) realpath(self::FOLDER . "/$folder"), \FilesystemIterator::SKIP_DOTS));
        foreach ($all as $file) {
            if ($file->getExtension() === 'php') {
                yield (string) $file->getRealPath();
            }
        }
    }
}
